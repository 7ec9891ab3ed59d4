/**
 * Tests faults of one provider among several providers. The providers are sample providers in separate processes. For
 * the comparison with other frameworks, they are ten simulated nodes in this process.
 */
@NullMarked
package tern.rpc.load.cluster;

import org.jspecify.annotations.NullMarked;
