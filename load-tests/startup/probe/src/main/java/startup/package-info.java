/** Measures the cost of a start in the same way for every application. */
@org.jspecify.annotations.NullMarked
package startup;
