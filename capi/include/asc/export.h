#ifndef ASC_EXPORT_H_
#define ASC_EXPORT_H_

/* ASC_API marks each function of the ABI; all other symbols of the library are hidden. */
#if defined(SWIG)
#define ASC_API
#else
#define ASC_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define ASC_EXTERN_C_BEGIN extern "C" {
#define ASC_EXTERN_C_END }
#else
#define ASC_EXTERN_C_BEGIN
#define ASC_EXTERN_C_END
#endif

#endif /* ASC_EXPORT_H_ */
