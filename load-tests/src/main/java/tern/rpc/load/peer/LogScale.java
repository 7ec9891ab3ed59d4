package tern.rpc.load.peer;

import java.util.ArrayList;
import java.util.List;

/**
 * A logarithmic scale.
 *
 * @param least lower end, above 0
 * @param most upper end
 * @param from position of the lower end
 * @param to position of the upper end
 */
record LogScale(double least, double most, double from, double to) {

    /** Extends the range to whole decades. */
    static LogScale around(double least, double most, double from, double to) {
        double first = Math.pow(10, Math.floor(Math.log10(least)));
        double last = Math.pow(10, Math.ceil(Math.log10(most)));
        return new LogScale(first, last <= first ? first * 10 : last, from, to);
    }

    double at(double value) {
        double within = Math.min(most, Math.max(least, value));
        return from + (to - from) * Math.log(within / least) / Math.log(most / least);
    }

    List<Double> decades() {
        List<Double> decades = new ArrayList<>();
        long count = Math.round(Math.log10(most / least));
        for (int i = 0; i <= count; i++) {
            decades.add(least * Math.pow(10, i));
        }
        return decades;
    }
}
