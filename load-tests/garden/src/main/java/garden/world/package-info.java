/**
 * The environment of the shop application: databases, HTTP servers, and the links to them. Faults can be injected into
 * each of these.
 */
@NullMarked
package garden.world;

import org.jspecify.annotations.NullMarked;
