/** Plants one fault after another in the shop application, and compares each diagnosis with the true cause. */
@NullMarked
package garden.run;

import org.jspecify.annotations.NullMarked;
