// Package house holds the rules of the house as a test. They tell the floor of each room and its imports, and who may make an HTTP client.
// They tell who may read the environment, and a few habits. The floors are in plan.txt and floors_test.go, and the other rules in
// rules_test.go. self_test.go shows that each rule can fail.
//
// The test parses the source itself. The test cache does not notice when the answers of the go command change. It refuses a new room until
// plan.txt has a line for it.
package house
