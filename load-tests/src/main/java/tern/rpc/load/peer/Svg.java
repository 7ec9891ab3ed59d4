package tern.rpc.load.peer;

import java.util.Locale;

/** Builds an SVG drawing as well-formed XML. Not thread-safe. */
final class Svg {

    private final StringBuilder xml = new StringBuilder();

    /** @param label the alternative text for screen readers */
    Svg(int width, int height, String label) {
        add(
                "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">%n",
                width, height, width, height, escaped(label));
    }

    /** @param title the tooltip */
    Svg bar(String style, double x, double y, double width, double height, String title) {
        add(
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"><title>%s</title></rect>%n",
                style, x, y, Math.max(0, width), Math.max(0, height), escaped(title));
        return this;
    }

    Svg line(String style, double x1, double y1, double x2, double y2) {
        add("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>%n", style, x1, y1, x2, y2);
        return this;
    }

    /** @param points the points in the form {@code x,y}, as {@link #point} returns them */
    Svg curve(String style, String points, String title) {
        add("<polyline class=\"%s\" points=\"%s\"><title>%s</title></polyline>%n", style, points, escaped(title));
        return this;
    }

    static String point(double x, double y) {
        return String.format(Locale.ROOT, "%.1f,%.1f ", x, y);
    }

    /** @param anchor the text anchor: {@code start}, {@code middle} or {@code end} */
    Svg text(double x, double y, String anchor, String text) {
        add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n", x, y, anchor, escaped(text));
        return this;
    }

    String xml() {
        return xml + "</svg>\n";
    }

    private void add(String format, Object... values) {
        xml.append(String.format(Locale.ROOT, format, values));
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replaceAll("[\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F]", "?");
    }
}
