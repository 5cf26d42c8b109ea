# Finds two numbers that add up to a target.
require 'set'

n, target = gets.split.map(&:to_i)
numbers = gets.split.map(&:to_i)

=begin
from value to place
=end
seen = {}
answer = nil
numbers.each_with_index do |value, i|
  wanted = target - value
  if seen.key?(wanted)
    answer = [seen[wanted] + 1, i + 1] # one based
    break
  end
  seen[value] = i
end

class Counter
  attr_reader :counts
  def initialize(items = [])
    @counts = Hash.new(0)
    items.each { |item| @counts[item] += 1 }
  end

  def most_common(k) = @counts.sort_by { |_, count| -count }.first(k)
end

puts answer ? "#{answer[0]} #{answer[1]}" : '-1 # none'.split.first
puts Set.new([n]).size unless numbers.any?
