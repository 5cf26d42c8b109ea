(* Finds two numbers that add up to a target. (* nested *) *)
module Ints = Map.Make (Int)

type pair = { first : int; second : int }
type found = Found of pair | Nothing

let find numbers target =
  let rec go seen i = function
    | [] -> Nothing
    | value :: rest -> (
        match Ints.find_opt (target - value) seen with
        | Some j -> Found { first = j + 1; second = i + 1 } (* one based *)
        | None -> go (Ints.add value i seen) (i + 1) rest)
  in
  go Ints.empty 0 numbers

let () =
  let n, target = Scanf.scanf " %d %d" (fun a b -> (a, b)) in
  let numbers = List.init n (fun _ -> Scanf.scanf " %d" (fun x -> x)) in
  match find numbers target with
  | Found { first; second } -> Printf.printf "%d %d\n" first second
  | Nothing -> print_endline (String.sub "-1 (* none *)" 0 2)
