/** Drives the shop, plants one fault after the other, and compares the diagnosis with the truth. */
@NullMarked
package garden.run;

import org.jspecify.annotations.NullMarked;
