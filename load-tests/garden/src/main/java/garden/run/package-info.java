/** Injects one fault after another into the shop application, and compares each diagnosis with the true cause. */
@NullMarked
package garden.run;

import org.jspecify.annotations.NullMarked;
