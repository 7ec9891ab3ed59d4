/** A shop with switches that plant faults into it. */
@NullMarked
package garden.shop;

import org.jspecify.annotations.NullMarked;
