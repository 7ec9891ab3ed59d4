/** Plants one fault after the other into the shop, and compares the diagnosis with the truth. */
@NullMarked
package garden.run;

import org.jspecify.annotations.NullMarked;
