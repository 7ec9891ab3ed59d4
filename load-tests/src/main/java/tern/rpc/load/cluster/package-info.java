/**
 * Faults of one provider among several: sample providers in separate processes, and ten nodes in this process for a
 * comparison with other frameworks.
 */
@NullMarked
package tern.rpc.load.cluster;

import org.jspecify.annotations.NullMarked;
