/** Records ended calls, and learns the usual times of methods and operations. */
@NullMarked
package tern.rpc.diagnosis.calls;

import org.jspecify.annotations.NullMarked;
