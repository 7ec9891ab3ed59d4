/** Application code that appears in stack traces. */
package shop;
