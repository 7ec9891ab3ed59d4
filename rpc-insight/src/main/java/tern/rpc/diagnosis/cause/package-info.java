/** A cause of late or failed calls with the recommended change, and the queueing model that sizes pools. */
@NullMarked
package tern.rpc.diagnosis.cause;

import org.jspecify.annotations.NullMarked;
