/** Measures the startup cost of different applications in the same way. */
@org.jspecify.annotations.NullMarked
package startup;
