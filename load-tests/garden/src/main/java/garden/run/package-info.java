/** Plants one fault after another into the shop, and compares the diagnosis with the true cause. */
@NullMarked
package garden.run;

import org.jspecify.annotations.NullMarked;
