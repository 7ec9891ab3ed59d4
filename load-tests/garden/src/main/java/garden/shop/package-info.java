/** The shop: the application that the diagnosis watches. */
@NullMarked
package garden.shop;

import org.jspecify.annotations.NullMarked;
