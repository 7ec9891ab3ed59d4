/** The environment of the shop: databases, peers, and the links to them. Each has its own switches. */
@NullMarked
package garden.world;

import org.jspecify.annotations.NullMarked;
