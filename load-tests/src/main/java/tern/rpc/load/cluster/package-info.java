/**
 * Tests faults of one provider among several. The providers are sample providers in separate processes, or, to compare
 * with other frameworks, ten simulated nodes in this process.
 */
@NullMarked
package tern.rpc.load.cluster;

import org.jspecify.annotations.NullMarked;
