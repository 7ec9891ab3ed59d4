/** Creates the descriptions of causes: title, evidence and recommended change. */
@NullMarked
package tern.rpc.diagnosis.text;

import org.jspecify.annotations.NullMarked;
