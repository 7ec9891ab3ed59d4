/** Classes that represent application code in stack traces. */
package shop;
