/** The vocabulary of the diagnosis: an ended call, the parts of its time, and the names of its operations. */
@NullMarked
package tern.rpc.diagnosis.account;

import org.jspecify.annotations.NullMarked;
