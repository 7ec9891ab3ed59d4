/** Plants one fault after another in the shop, and compares each diagnosis with the true cause. */
@NullMarked
package garden.run;

import org.jspecify.annotations.NullMarked;
