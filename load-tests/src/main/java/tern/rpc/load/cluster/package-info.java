/** Faults of one provider among several: sample providers as processes, and ten nodes in this process beside other frameworks. */
@NullMarked
package tern.rpc.load.cluster;

import org.jspecify.annotations.NullMarked;
