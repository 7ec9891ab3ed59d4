/** What a start costs, measured the same way for every application. */
@org.jspecify.annotations.NullMarked
package startup;
