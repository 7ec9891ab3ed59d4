/** A shop with faults that can be switched on and off. */
@NullMarked
package garden.shop;

import org.jspecify.annotations.NullMarked;
