{-# LANGUAGE TupleSections #-}
module Main where

import qualified Data.Map.Strict as Map
import Data.Maybe (fromMaybe)

-- | Finds two numbers that add up to a target.
find :: Int -> [Int] -> Maybe (Int, Int)
find target numbers = go Map.empty (zip [1 ..] numbers)
  where
    go _ [] = Nothing -- none
    go seen ((i, value) : rest)
      | Just j <- Map.lookup (target - value) seen = Just (j, i)
      | otherwise = go (Map.insert value i seen) rest

{- a class, to have one {- nested -} here -}
class Shown a where
  shown :: a -> String

instance Shown (Int, Int) where
  shown (a, b) = show a ++ " " ++ show b

main :: IO ()
main = do
  [n, target] <- map read . words <$> getLine
  numbers <- map read . words <$> getLine
  let pair = find target (take n numbers)
  putStrLn $ maybe "-1 -- none" shown pair
