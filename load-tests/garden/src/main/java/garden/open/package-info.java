/** The open half of the fault set. The authors of the diagnosis rules may read the diagnoses of these faults; those of the blind half stay hidden from them. */
@NullMarked
package garden.open;

import org.jspecify.annotations.NullMarked;
