/**
 * The blind half of the garden. The authors of the diagnosis rules must not read its faults before they change the
 * rules.
 */
@NullMarked
package garden.blind;

import org.jspecify.annotations.NullMarked;
