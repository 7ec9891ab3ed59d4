package tern.rpc.load.peer;

/**
 * The slope of a least-squares regression line.
 *
 * @param perMinute the change per minute; 0 if there are fewer than two values
 */
record Slope(double perMinute) {

    /** @param minutes the times of the values, in minutes */
    static Slope of(double[] minutes, double[] values) {
        int count = minutes.length;
        double meanTime = 0;
        double meanValue = 0;
        for (int i = 0; i < count; i++) {
            meanTime += minutes[i] / count;
            meanValue += values[i] / count;
        }
        double together = 0;
        double times = 0;
        for (int i = 0; i < count; i++) {
            together += (minutes[i] - meanTime) * (values[i] - meanValue);
            times += (minutes[i] - meanTime) * (minutes[i] - meanTime);
        }
        return new Slope(times == 0 ? 0 : together / times);
    }

    double over(double minutes) {
        return perMinute * minutes;
    }
}
