/** Names failures: the peer, database condition, timeout, limit or rejection that an exception stands for. */
@NullMarked
package tern.rpc.diagnosis.failure;

import org.jspecify.annotations.NullMarked;
