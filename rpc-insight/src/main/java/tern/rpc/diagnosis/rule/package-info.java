/** Attributes the time of a symptom, such as a wait for a full pool, to the work that causes it. */
@NullMarked
package tern.rpc.diagnosis.rule;

import org.jspecify.annotations.NullMarked;
