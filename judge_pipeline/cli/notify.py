"""``judge-pipeline notify``: whether people would be told of a run that failed."""

from __future__ import annotations

import click

from judge_pipeline.settings import Workspace


@click.command()
@click.option("--test", "send", is_flag=True, help="Send a test message over every way that is set up.")
def notify(send: bool) -> int:
    """Show who is told of runs that fail, and try it with --test.

    While 'judge-pipeline ui' runs, a run that fails is told by a webhook (a chat, say) or by e-mail: what failed, why,
    and how to retry it. The addresses are read from the variables that automation.yaml names under notify.

    \b
    Exit codes: 0 told, or nobody is to be; 1 a message could not be sent; 2 the command was wrong.
    """
    from judge_pipeline.orchestration.automation.failure_messages import trial_message
    from judge_pipeline.orchestration.automation.sending import NotSentError, channels
    from judge_pipeline.orchestration.links import ui_url
    from judge_pipeline.settings.secrets_file import key_environment

    workspace = Workspace.find()
    settings = workspace.automation().notify
    ways = channels(settings, key_environment())
    if not ways:
        click.echo(f"Nobody is told: neither {settings.webhook_env} nor {settings.smtp_env} is set.")
        return 1 if send else 0
    if not send:
        click.echo(f"Told by: {', '.join(way.name for way in ways)}. Try it with --test.")
        return 0
    code = 0
    for way in ways:
        try:
            way.send(trial_message(ui_url(workspace)))
        except NotSentError as error:
            click.echo(f"{way.name}: not sent: {error}", err=True)
            code = 1
        else:
            click.echo(f"{way.name}: sent")
    return code
