/**
 * Five rounds of load tests of the sample. Each round compares a mistake with its fix and reads Tern's advice under
 * load.
 */
@org.jspecify.annotations.NullMarked
package tern.rpc.load.replay;
