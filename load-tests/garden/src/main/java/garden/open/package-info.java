/** The open half of the faults. The authors of the diagnosis rules may read its answers at any time. */
@NullMarked
package garden.open;

import org.jspecify.annotations.NullMarked;
