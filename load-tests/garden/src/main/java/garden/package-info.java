/**
 * A garden of faults: an application, the services that it depends on, and faults that are planted to judge the
 * diagnosis.
 */
@NullMarked
package garden;

import org.jspecify.annotations.NullMarked;
