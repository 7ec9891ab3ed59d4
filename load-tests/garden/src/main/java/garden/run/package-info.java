/** Puts load on the shop, plants one fault after the other, and compares the diagnosis with the expected one. */
@NullMarked
package garden.run;

import org.jspecify.annotations.NullMarked;
