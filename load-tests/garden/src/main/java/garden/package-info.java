/** A garden of faults: an application, what it depends on, and faults to plant, to judge the diagnosis. */
@NullMarked
package garden;

import org.jspecify.annotations.NullMarked;
