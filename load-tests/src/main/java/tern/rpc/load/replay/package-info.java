/** Five rounds of load tests of the sample: each mistake beside its fix, and what Tern says about it under load. */
@org.jspecify.annotations.NullMarked
package tern.rpc.load.replay;
