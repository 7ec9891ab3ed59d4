/**
 * Runs five rounds of load tests with the sample applications. Each round compares a configuration error with its fix,
 * and reads the diagnosis under load.
 */
@org.jspecify.annotations.NullMarked
package tern.rpc.load.replay;
