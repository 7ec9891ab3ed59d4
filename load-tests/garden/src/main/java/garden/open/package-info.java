/** The open half of the garden: faults whose answers may be read at any time. */
@NullMarked
package garden.open;

import org.jspecify.annotations.NullMarked;
