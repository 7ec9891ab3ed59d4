/**
 * The open half of the faults. The authors of the diagnosis rules may read the diagnoses of these faults. The authors
 * must not read the diagnoses of the blind half.
 */
@NullMarked
package garden.open;

import org.jspecify.annotations.NullMarked;
