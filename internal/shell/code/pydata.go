package code

import "strings"

// The best-known libraries for data in Python: what only reads, computes and prints. What they write with (to_csv,
// save, dump), what they load code with (pickle, unsafe YAML) and what reaches for servers is on none of the lists.

// pyData is pyLookup for a member of a library outside the standard one; p has no mark in front.
func pyData(p string) entry {
	root, rest, deep := strings.Cut(p, ".")
	name := p[strings.LastIndexByte(p, '.')+1:]
	if strings.HasPrefix(name, "_") && name != "__version__" {
		return entry{}
	}
	if deep && name == "__version__" && pyDataRoot(root) {
		return entry{do: ok}
	}
	switch root {
	case "numpy":
		return numpyLookup(rest)
	case "pandas", "polars":
		return pandasLookup(rest)
	case "scipy", "sklearn", "statsmodels", "sympy", "networkx":
		return scienceLookup(root, rest, name, deep)
	case "torch":
		return torchLookup(rest)
	case "yaml":
		switch rest {
		case "":
			return entry{do: module}
		case "safe_load", "safe_load_all", "dump", "safe_dump", "YAMLError", "SafeLoader":
			return entry{do: ok}
		}
	case "toml", "tomli", "orjson", "ujson", "simplejson":
		switch rest {
		case "":
			return entry{do: module}
		case "load", "loads", "dumps", "JSONDecodeError", "TOMLDecodeError":
			return entry{do: ok}
		}
	case "PIL":
		switch rest {
		case "", "Image", "ImageStat", "ImageColor", "ExifTags":
			return entry{do: module}
		case "Image.open":
			return entry{do: read, eff: Read}
		case "ExifTags.TAGS", "ImageStat.Stat", "ImageColor.getrgb", "Image.new":
			return entry{do: ok}
		}
	case "tabulate", "tqdm", "dateutil", "pytz", "humanize", "packaging", "more_itertools", "sortedcontainers", "textdistance", "regex", "chardet":
		if !deep || rest == "version" || rest == "parser" || rest == "auto" || rest == "relativedelta" {
			return entry{do: module}
		}
		return entry{do: ok}
	}
	return entry{}
}

func pyDataRoot(root string) bool {
	switch root {
	case "numpy", "pandas", "polars", "scipy", "sklearn", "torch", "yaml", "statsmodels", "sympy", "networkx", "requests", "django", "flask", "matplotlib", "tensorflow", "transformers", "fastapi", "pydantic", "sqlalchemy", "pytest":
		return true
	}
	return false
}

func numpyLookup(rest string) entry {
	switch rest {
	case "random", "linalg", "fft", "ma", "polynomial", "testing", "char":
		return entry{do: module}
	case "":
		return entry{do: module}
	case "array", "asarray", "zeros", "ones", "empty", "full", "arange", "linspace", "logspace", "geomspace", "eye", "identity", "diag", "meshgrid", "zeros_like", "ones_like", "full_like", "mean", "median", "average", "std", "var",
		"sum", "prod", "cumsum", "cumprod", "diff", "gradient", "min", "max", "amin", "amax", "argmin", "argmax", "argsort", "sort", "unique", "where", "nonzero", "any", "all", "abs", "absolute", "sqrt", "cbrt", "exp", "log", "log2", "log10",
		"log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "floor", "ceil", "round", "around", "rint", "clip", "dot", "vdot", "matmul", "inner", "outer", "cross", "kron", "trace", "concatenate", "stack",
		"vstack", "hstack", "column_stack", "split", "reshape", "ravel", "transpose", "squeeze", "expand_dims", "tile", "repeat", "flip", "roll", "percentile", "quantile", "nanmean", "nanstd", "nansum", "nanmin", "nanmax", "corrcoef", "cov",
		"histogram", "bincount", "digitize", "interp", "polyfit", "polyval", "poly1d", "roots", "isnan", "isinf", "isfinite", "allclose", "isclose", "array_equal", "nan", "inf", "pi", "e", "newaxis", "float16", "float32", "float64", "int8",
		"int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool_", "complex128", "dtype", "finfo", "iinfo", "ndarray", "number", "integer", "floating", "load", "loadtxt", "genfromtxt", "fromstring", "frombuffer", "set_printoptions",
		"count_nonzero", "searchsorted", "intersect1d", "union1d", "setdiff1d", "isin", "sign", "mod", "power", "add", "subtract", "multiply", "divide", "maximum", "minimum", "datetime64", "timedelta64", "triu", "tril", "deg2rad", "rad2deg", "gcd", "lcm",
		"errstate", "seterr", "einsum", "tensordot", "convolve", "trapz", "object_", "str_", "random.seed", "random.default_rng", "vectorize", "apply_along_axis", "shape", "size", "ndim", "issubdtype", "nan_to_num", "ptp", "select":
		if rest == "load" {
			return entry{do: trusted, eff: Read}
		}
		return entry{do: ok}
	}
	if strings.HasPrefix(rest, "random.") || strings.HasPrefix(rest, "linalg.") || strings.HasPrefix(rest, "fft.") {
		return entry{do: ok}
	}
	return entry{}
}

func pandasLookup(rest string) entry {
	switch rest {
	case "", "options", "options.display", "api", "api.types":
		return entry{do: module}
	case "read_csv", "read_json", "read_excel", "read_parquet", "read_table", "read_feather", "read_fwf", "read_orc", "read_xml", "read_sas", "read_stata", "read_ipc", "read_ndjson", "scan_csv", "scan_parquet":
		return entry{do: read, eff: Read}
	case "DataFrame", "Series", "concat", "merge", "to_datetime", "to_numeric", "to_timedelta", "date_range", "period_range", "timedelta_range", "cut", "qcut", "crosstab", "pivot_table", "pivot", "melt", "get_dummies", "isna", "isnull", "notna",
		"notnull", "unique", "factorize", "NA", "NaT", "Timestamp", "Timedelta", "Period", "Categorical", "CategoricalDtype", "Index", "MultiIndex", "set_option", "get_option", "option_context", "reset_option", "Grouper", "NamedAgg",
		"DataFrame.from_dict", "DataFrame.from_records", "json_normalize", "wide_to_long", "merge_asof", "Int64Dtype", "StringDtype", "offsets", "show_versions", "col", "lit", "when", "Config", "len", "all", "Utf8", "Int64", "Float64", "Date", "testing", "count", "sum", "mean":
		return entry{do: ok}
	}
	if strings.HasPrefix(rest, "options.display.") || strings.HasPrefix(rest, "api.types.") {
		return entry{do: ok}
	}
	return entry{}
}

func scienceLookup(root, rest, name string, deep bool) entry {
	if !deep {
		return entry{do: module}
	}
	top, _, below := strings.Cut(rest, ".")
	switch root {
	case "scipy":
		switch top {
		case "stats", "special", "optimize", "linalg", "signal", "fft", "interpolate", "integrate", "spatial", "constants", "ndimage", "cluster":
			if !below {
				return entry{do: module}
			}
			return entry{do: ok}
		}
	case "sklearn":
		switch top {
		case "datasets":
			if !below {
				return entry{do: module}
			}
			if strings.HasPrefix(name, "make_") || strings.HasPrefix(name, "load_") && name != "load_files" && name != "load_svmlight_file" {
				return entry{do: ok}
			}
		case "linear_model", "ensemble", "tree", "svm", "neighbors", "cluster", "decomposition", "preprocessing", "model_selection", "metrics", "pipeline", "naive_bayes", "neural_network", "feature_extraction", "feature_selection", "impute", "compose",
			"manifold", "mixture", "discriminant_analysis", "inspection", "calibration", "dummy", "gaussian_process":
			if !below || rest == "feature_extraction.text" {
				return entry{do: module}
			}
			return entry{do: ok}
		}
	case "sympy":
		switch name {
		case "symbols", "Symbol", "solve", "diff", "integrate", "limit", "series", "expand", "factor", "simplify", "Rational", "Integer", "Float", "pi", "E", "I", "oo", "sin", "cos", "tan", "exp", "log", "sqrt", "Matrix", "Eq", "factorint", "isprime",
			"primerange", "nextprime", "gcd", "lcm", "binomial", "factorial", "pprint", "pretty", "latex", "N", "Sum", "summation", "product", "dsolve", "Function", "linsolve", "nsolve", "roots", "totient", "divisors", "fibonacci", "apart", "together", "cancel":
			return entry{do: ok}
		}
	case "networkx":
		if !below && !strings.HasPrefix(name, "read_") && !strings.HasPrefix(name, "write_") && !strings.HasPrefix(name, "draw") && !strings.HasPrefix(name, "nx_") && !strings.HasPrefix(name, "from_") && !strings.HasPrefix(name, "to_") {
			return entry{do: ok}
		}
	}
	return entry{}
}

func torchLookup(rest string) entry {
	switch rest {
	case "", "cuda", "backends", "backends.mps", "backends.cudnn", "nn", "nn.functional", "version", "linalg", "distributions", "mps", "optim", "autograd":
		return entry{do: module}
	case "load":
		return entry{do: trusted, eff: Read}
	case "tensor", "zeros", "ones", "rand", "randn", "randint", "arange", "linspace", "eye", "empty", "full", "cat", "stack", "sum", "mean", "std", "max", "min", "matmul", "mm", "bmm", "dot", "abs", "sqrt", "exp", "log", "sigmoid", "softmax", "argmax",
		"topk", "allclose", "manual_seed", "no_grad", "inference_mode", "device", "float16", "float32", "float64", "bfloat16", "int8", "int32", "int64", "long", "float", "half", "bool", "Tensor", "from_numpy", "set_printoptions", "isnan", "where",
		"get_num_threads", "set_num_threads", "einsum", "norm", "relu", "tanh", "randperm", "unique", "is_tensor", "numel", "Size", "set_grad_enabled", "get_default_dtype", "version.cuda", "version.hip", "autograd.grad":
		return entry{do: ok}
	}
	for _, m := range [...]string{"cuda.", "backends.", "nn.", "linalg.", "distributions.", "mps.", "optim."} {
		if strings.HasPrefix(rest, m) {
			return entry{do: ok}
		}
	}
	return entry{}
}

// pyDataMethod lists methods of frames, arrays, tensors and models that compute and return.
func pyDataMethod(name string) bool {
	switch name {
	case "head", "tail", "describe", "info", "mean", "median", "std", "var", "sum", "min", "max", "abs", "prod", "cumsum", "cumprod", "diff", "pct_change", "quantile", "corr", "cov", "skew", "kurt", "rank", "round", "clip", "mode", "nunique", "unique",
		"value_counts", "groupby", "agg", "aggregate", "apply", "transform", "size", "sort_values", "sort_index", "nlargest", "nsmallest", "isna", "isnull", "notna", "notnull", "dropna", "fillna", "ffill", "bfill", "interpolate", "merge", "join",
		"pivot_table", "pivot", "melt", "stack", "unstack", "explode", "reset_index", "set_index", "reindex", "rename", "drop", "drop_duplicates", "duplicated", "astype", "select_dtypes", "sample", "filter", "isin", "between", "where", "mask",
		"to_string", "to_dict", "to_list", "to_numpy", "to_frame", "to_markdown", "to_period", "to_timestamp", "iterrows", "itertuples", "resample", "rolling", "expanding", "ewm", "shift", "idxmax", "idxmin", "any", "all", "memory_usage", "equals", "squeeze",
		"assign", "add_prefix", "add_suffix", "cat", "contains", "len", "slice", "extract", "crosstab", "first", "last", "nth", "cumcount", "ngroup", "get_group", "with_columns", "select", "collect", "unique_counts", "null_count", "glimpse", "lazy", "over", "alias",
		"reshape", "ravel", "flatten", "transpose", "dot", "argmax", "argmin", "argsort", "nonzero", "item", "fill", "ptp", "trace", "diagonal", "repeat", "swapaxes", "conj", "normal", "standard_normal", "integers", "random", "choice", "shuffle", "permutation", "uniform",
		"numel", "dim", "detach", "cpu", "float", "long", "half", "int", "bool", "norm", "view", "permute", "unsqueeze", "expand", "contiguous", "softmax", "sigmoid", "relu", "exp", "log", "sqrt", "pow", "eq", "ne", "lt", "gt", "le", "ge", "mul", "div", "matmul", "mm", "topk",
		"parameters", "named_parameters", "state_dict", "named_modules", "modules", "children", "named_children", "eval", "train", "zero_grad", "backward", "requires_grad_", "cuda", "to", "numpy", "element_size",
		"fit", "predict", "score", "fit_transform", "predict_proba", "inverse_transform", "get_params", "set_params", "fit_predict", "decision_function", "get_feature_names_out", "subs", "evalf", "doit", "nodes", "edges", "degree", "add_edge", "add_node", "add_edges_from", "add_nodes_from",
		"number_of_nodes", "number_of_edges", "neighbors", "has_edge", "has_section", "has_option", "sections", "options", "getint", "getfloat", "getboolean", "read_string", "tz_localize", "tz_convert", "normalize", "day_name", "month_name", "strptime", "summary":
		return true
	}
	return false
}

// pyDataAttr lists attributes of the same.
func pyDataAttr(name string) bool {
	switch name {
	case "mode", "format", "index", "values", "dtypes", "loc", "iloc", "iat", "at", "str", "dt", "cat", "empty", "ndim", "itemsize", "flat", "target", "feature_names", "target_names", "coef_", "intercept_", "feature_importances_", "explained_variance_ratio_", "labels_", "cluster_centers_",
		"inertia_", "classes_", "best_params_", "best_score_", "device", "requires_grad", "grad", "weight", "bias", "levels", "names", "freq", "is_unique", "hour", "dayofweek", "quarter", "pvalue", "statistic", "slope", "intercept", "rvalue", "real", "strides", "schema", "height", "width", "total_memory":
		return true
	}
	return false
}

// strayArgs tells whether a method that calls another one by name is given arguments to pass on.
func strayArgs(name string, args []value) bool {
	switch name {
	case "eval":
		return len(args) > 0 // a frame's own runs code, a model's takes nothing
	case "agg", "aggregate", "apply", "transform":
	default:
		return false
	}
	first, found := arg(args, 0, "")
	if !found || first.code {
		return false
	}
	for _, x := range args {
		switch x.kw {
		case "", "axis", "raw", "result_type":
		default:
			return true
		}
	}
	_, second := arg(args, 1, "")
	return second
}
