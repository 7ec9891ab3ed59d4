/**
 * The blind half of the faults. The authors of the diagnosis rules must not read this half before they change the
 * rules.
 */
@NullMarked
package garden.blind;

import org.jspecify.annotations.NullMarked;
