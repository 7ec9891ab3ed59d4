/** Measures the cost of starting an application, in the same way for every application. */
@org.jspecify.annotations.NullMarked
package startup;
