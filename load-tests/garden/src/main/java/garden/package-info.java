/** An application, the services that it calls, and faults that are injected into them to test the diagnosis. */
@NullMarked
package garden;

import org.jspecify.annotations.NullMarked;
