# Finds two numbers that add up to a target.
struct Pair2{T<:Integer}
    first::T
    second::T
end

#= from value to place #= nested =# =#
function find(numbers::Vector{Int}, target::Int)
    seen = Dict{Int,Int}()
    for (i, value) in enumerate(numbers)
        if haskey(seen, target - value)
            return Pair2(seen[target-value], i) # one based
        end
        seen[value] = i
    end
    return nothing
end

shown(p::Pair2) = "$(p.first) $(p.second)"

n, target = parse.(Int, split(readline()))
numbers = [parse(Int, word) for word in split(readline())][1:n]
pair = find(numbers, target)
println(pair === nothing ? "-1 # none"[1:2] : shown(pair))
