/** Code of an application, as it appears in stack traces. */
package shop;
