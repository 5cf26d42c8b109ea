#include <stdio.h>
#include <string.h>

static char line[200010];
static char opened[200010];

int main(void) {
    int depth = 0, i, length;
    scanf("%s", line);
    length = strlen(line);
    for (i = 0; i < length; i++) {
        char c = line[i];
        if (c == '(') {
            opened[depth++] = ')';
        } else if (c == '[') {
            opened[depth++] = ']';
        } else if (c == '{') {
            opened[depth++] = '}';
        } else if (depth > 0 && opened[depth - 1] == c) {
            depth--;
        } else {
            printf("%d\n", i + 1);
            return 0;
        }
    }
    if (depth > 0) {
        printf("open %d\n", depth);
    } else {
        printf("ok\n");
    }
    return 0;
}
