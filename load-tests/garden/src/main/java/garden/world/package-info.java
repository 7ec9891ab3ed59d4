/** What the shop depends on: stores, peers, and the links to them, each with switches of its own. */
@NullMarked
package garden.world;

import org.jspecify.annotations.NullMarked;
