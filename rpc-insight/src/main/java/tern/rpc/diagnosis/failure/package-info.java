/** Names failures: the peer, database condition, timeout, limit or rejection that an exception reports. */
@NullMarked
package tern.rpc.diagnosis.failure;

import org.jspecify.annotations.NullMarked;
