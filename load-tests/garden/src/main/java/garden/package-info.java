/** An application, the services on which it depends, and faults that are injected into them to test the diagnosis. */
@NullMarked
package garden;

import org.jspecify.annotations.NullMarked;
