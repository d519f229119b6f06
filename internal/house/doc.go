// Package house holds the rules of the house as a test: which room stands on which floor and whom it may
// know, who may make an HTTP client, who may read the environment, and a few habits. The floors are in
// floors_test.go, the other rules in rules_test.go; self_test.go shows that each of them can fail.
//
// It reads the source itself, and not through the go command, whose answers the test cache cannot see
// change. A new room is refused until it has its line in the table.
package house
